"""What vendors' folders share: values that know where they come from, and switch profiles as files."""
