import type { z } from 'zod';
import { cleanText } from './clean-text.ts';
import { SnippetError } from './snippet-error.ts';
import { type Params, parseSnippetId } from './snippet-request.ts';

/** A zod schema, or one of any library that implements Standard Schema. */
export type ParamsSchema = Pick<z.core.$ZodType, '~standard'>;

/** A snippet with a name in code, and the params it takes. */
export interface SnippetDefinition<Schema extends ParamsSchema | undefined = ParamsSchema | undefined> {
  readonly id: number;
  readonly params: Schema;
}

/** The params of a snippet that was defined with this schema; `undefined` if it takes none. */
export type ParamsOf<Schema extends ParamsSchema | undefined> = Schema extends ParamsSchema
  ? NonNullable<Schema['~standard']['types']>['input']
  : undefined;

/**
 * Gives a snippet a name in code and its params a type. A wrong param is then an error in the editor and in
 * `astro check`; a value that is known only at build time is checked in the build.
 *
 * @throws SnippetError `invalid-id`
 *
 * @example
 * export const pricing = defineSnippet({ id: 42, params: z.object({ plan: z.enum(['free', 'pro']) }) });
 * // <Snippet of={pricing} params={{ plan: 'pro' }} />
 */
export function defineSnippet<Schema extends ParamsSchema | undefined = undefined>(definition: {
  id: number;
  params?: Schema;
}): SnippetDefinition<Schema> {
  return { id: parseSnippetId(definition.id), params: definition.params as Schema };
}

/**
 * Validates params against the schema of a definition. Returns them as the schema outputs them, with defaults for
 * example.
 *
 * @throws SnippetError `invalid-params`, with the path of each issue.
 */
export async function checkParams(
  { id, params: schema }: SnippetDefinition,
  params: unknown,
): Promise<Params | undefined> {
  if (schema === undefined) {
    if (params === undefined) return undefined;
    throw new SnippetError('invalid-params', 'it is defined without params.', { snippetId: id });
  }
  const result = await schema['~standard'].validate(params);
  if (result.issues === undefined) return result.value as Params | undefined;
  const flaws = result.issues.map(({ path = [], message }) => {
    const keys = path.map((part) => String(typeof part === 'object' ? part.key : part));
    return `${['params', ...keys].join('.')}: ${cleanText(message)}`;
  });
  throw new SnippetError('invalid-params', flaws.join('; '), { snippetId: id });
}
