"""The market in the words of other frameworks; each module needs its framework, which the package does
not install by itself."""
