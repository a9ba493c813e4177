import { z } from 'zod';
import type { SnippetErrorCode } from '../client/snippet-error.ts';
import { consequenceOf } from '../wanted/consequence.ts';

const schema = z.object({
  content: z.string(),
  variant: z.enum(['render', 'retrieve']),
  name: z.string().optional(),
  /** When the service gave it, in milliseconds since the epoch. */
  fetchedAt: z.int().min(0),
});

/** A good answer of the service, as it is kept. */
export type CacheEntry = z.infer<typeof schema>;

/** Reads what a storage gave; nothing where it is cut, changed, or was written by something else. */
export function readCacheEntry(stored: unknown): CacheEntry | undefined {
  const parsed = schema.safeParse(stored);
  return parsed.success ? parsed.data : undefined;
}

/** Whether an answer is young enough. One from the future, as a clock that was wrong leaves it, is as old as far. */
export function isYounger({ fetchedAt }: CacheEntry, age: number, now: number): boolean {
  return Math.abs(now - fetchedAt) <= age;
}

/** Whether the last good content may take the place of what failed: only where the service is in trouble. */
export function mayStandIn(code: SnippetErrorCode): boolean {
  return consequenceOf(code) === 'fallback';
}
