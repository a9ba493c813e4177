import fc from 'fast-check';

// The same values each time, and no search for the smallest one that fails.
fc.configureGlobal({ seed: 1, endOnFailure: true });
