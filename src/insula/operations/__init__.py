"""What people may do: each verb one typed function of a store, which library, terminal, server and page show."""
