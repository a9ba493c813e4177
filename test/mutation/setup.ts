import fc from 'fast-check';

// The same values each time, without shrinking.
fc.configureGlobal({ seed: 1, endOnFailure: true });
