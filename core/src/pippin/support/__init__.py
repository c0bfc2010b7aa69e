"""What a solver supports: features, the declaration of a component, and what a scene or a user needs of them."""
