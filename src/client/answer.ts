import { z } from 'zod';

/** What `render` gives (specification, section 4.2). */
export interface RenderedSnippet {
  /** The rendered snippet: HTML, byte for byte as the service sent it. May be empty. */
  content: string;
}

/** What `retrieve` gives (specification, sections 2 and 4.1: which fields are in every answer is not shown). */
export interface RetrievedSnippet {
  id: number;
  name?: string | undefined;
  content?: string | undefined;
}

const rendered: z.ZodType<RenderedSnippet> = z.object({ content: z.string() });

const retrieved: z.ZodType<RetrievedSnippet> = z.object({
  id: z.int(),
  // A name or content that is null is one that is not there.
  name: z.string().nullish().transform(orUndefined),
  content: z.string().nullish().transform(orUndefined),
});

function orUndefined(value: string | null | undefined): string | undefined {
  return value ?? undefined;
}

/** Reads the body of a success; nothing where it is cut, no JSON, or not of the specified shape. */
export function readRendered(body: string): RenderedSnippet | undefined {
  return read(rendered, body);
}

/** As {@link readRendered}, for variant A; the id must be the one that was asked for. */
export function readRetrieved(body: string, id: number): RetrievedSnippet | undefined {
  const snippet = read(retrieved, body);
  return snippet?.id === id ? snippet : undefined;
}

function read<T>(schema: z.ZodType<T>, body: string): T | undefined {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return undefined;
  }
  const parsed = schema.safeParse(json);
  return parsed.success ? parsed.data : undefined;
}
