"""What a lab means, every default explicit: how the plan (`fabriclab.formats.plan`) is made of it."""

from fabriclab.resolve.resolver import Resolver, resolve_plan

__all__ = ["Resolver", "resolve_plan"]
