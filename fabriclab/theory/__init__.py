"""What theory says of a lab, to lay beside what was measured."""
