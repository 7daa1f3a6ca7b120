"""Ask a retriever: in threads or an event loop, with retries, failures counted, answers kept."""
