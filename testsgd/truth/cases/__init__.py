"""Cases: worlds of one size that come with the options of the audit that they try to fool."""
