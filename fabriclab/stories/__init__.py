"""Stories: a trainer's list of steps for a live lab, each with words to say and what is done (`stories/NAME.yml`)."""

from fabriclab.stories.files import find_story, read_stories, story_files, story_name
from fabriclab.stories.story import Action, Step, Story

__all__ = ["Action", "Step", "Story", "find_story", "read_stories", "story_files", "story_name"]
