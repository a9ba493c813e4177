import type { z } from 'zod';
import { cleanText } from './clean-text.ts';
import type { Params } from './params.ts';
import { SnippetError } from './snippet-error.ts';
import { parseSnippetId } from './snippet-id.ts';

/** A schema of zod, or of any library that follows the same standard for schemas. */
export type ParamsSchema = Pick<z.core.$ZodType, '~standard'>;

/** A snippet by name instead of number, with the params it takes. */
export interface SnippetDefinition<Schema extends ParamsSchema | undefined = ParamsSchema | undefined> {
  readonly id: number;
  readonly params: Schema;
}

/** What may be passed to a snippet that was defined with this schema; nothing where it takes no params. */
export type ParamsOf<Schema extends ParamsSchema | undefined> = Schema extends ParamsSchema
  ? NonNullable<Schema['~standard']['types']>['input']
  : undefined;

/**
 * Gives a snippet a name and its params a type. A wrong param is then an error in the editor and in `astro check`,
 * and, where a value is known only later, in the build.
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
 * Checks params against the schema of a definition, and returns them as the schema leaves them: defaults filled
 * in, for example. Without a schema there are none.
 *
 * @throws SnippetError `invalid-params`, which names each path that is wrong.
 */
export async function checkParams(
  { id, params: schema }: SnippetDefinition,
  params: unknown,
): Promise<Params | undefined> {
  if (schema === undefined) {
    if (params === undefined) return undefined;
    throw new SnippetError('invalid-params', `Snippet ${id} is defined without params.`, { snippetId: id });
  }
  const result = await schema['~standard'].validate(params);
  if (result.issues === undefined) return result.value as Params | undefined;
  const flaws = result.issues.map(({ path = [], message }) => {
    const keys = path.map((part) => String(typeof part === 'object' ? part.key : part));
    return `${['params', ...keys].join('.')}: ${cleanText(message)}`;
  });
  throw new SnippetError('invalid-params', flaws.join('; '), { snippetId: id });
}
