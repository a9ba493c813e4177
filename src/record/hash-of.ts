import { hash } from 'node:crypto';

/**
 * The hash of content or of a file, cut to 132 bits: whole ones would enlarge the manifest by a sixth.
 *
 * It has a module of its own for builds without embeds, which compare files but need no manifest.
 */
export const hashOf = (bytes: Buffer | string): string => hash('sha256', bytes, 'base64url').slice(0, 22);
