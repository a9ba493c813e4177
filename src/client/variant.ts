/**
 * The two variants of the interface (specification, section 4): `retrieve` is variant A, `render` is
 * variant B. The words are used for the variant, its operation and its base address.
 */
export type Variant = 'retrieve' | 'render';
