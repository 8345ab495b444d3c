"""What figures and tables are drawn with: colours, labels, axes, pools of runs,
published values, the parts of a page."""
