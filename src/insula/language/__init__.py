"""What a person means, told by small trained heads on the vectors of their sentences."""
