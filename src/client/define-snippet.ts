import type { z } from 'zod';
import { cleanText } from '../text/clean-text.ts';
import { invalidParams } from './params.ts';
import { createRequest, parseSnippetId, type SnippetRequest } from './snippet-request.ts';

/** A schema of zod, or of any other library that implements Standard Schema. */
export type ParamsSchema = Pick<z.core.$ZodType, '~standard'>;

/** A snippet with a name in code, and the params it takes. Made by {@link defineSnippet}. */
export interface SnippetDefinition<Schema extends ParamsSchema | undefined = ParamsSchema | undefined> {
  /** The snippet's id, checked. */
  readonly id: number;
  /** The schema that the params of each embed must match; `undefined` if the snippet takes none. */
  readonly params: Schema;
}

/** The type of the params that a schema accepts; `undefined` if the snippet takes none. */
export type ParamsOf<Schema extends ParamsSchema | undefined> = Schema extends ParamsSchema
  ? NonNullable<Schema['~standard']['types']>['input']
  : undefined;

/**
 * Gives a snippet a name in code, and its params a type that the editor, `astro check` and the build check.
 * The service has neither (specification, section 2): the name and the schema stay in your project.
 *
 * @param definition the snippet's id, and a schema for its params if it takes any.
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
 * Makes a request for a defined snippet, with the params that its schema returns, defaults included.
 *
 * @throws SnippetError `invalid-params`, with all issues that the schema finds.
 */
export async function definedRequest(
  { id, params: schema }: SnippetDefinition,
  params: unknown,
): Promise<SnippetRequest> {
  if (!schema) {
    if (params === undefined) return createRequest(id);
    throw invalidParams(
      'it is defined without params. Remove them, or give its `defineSnippet` a schema.',
      id,
    );
  }

  const result = await schema['~standard'].validate(params);
  if (!result.issues) return createRequest(id, result.value);

  const flaws = result.issues.map(({ path = [], message }) => {
    const keys = path.map((part) => String(typeof part === 'object' ? part.key : part));
    return `${['params', ...keys].join('.')}: ${cleanText(message)}`;
  });
  throw invalidParams(flaws.join('; '), id);
}
