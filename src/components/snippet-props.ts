import type { Params, ParamsOf, ParamsSchema, SnippetDefinition } from '../client/snippet-request.ts';
import type { EmbedAs } from '../embed/element.ts';

interface CommonProps {
  /**
   * `html` shows the content, `text` its text. The default is `html` where elements may be, and in files that are not
   * pages; `text` elsewhere, as in `<title>` and in attributes.
   */
  as?: EmbedAs | undefined;
  /** Shows the children where the snippet does not exist, with a warning, instead of failing the build. */
  optional?: boolean | undefined;
}

/** A snippet by its id, with any params. */
export interface SnippetById extends CommonProps {
  /** The snippet's id. */
  id: number | `${number}`;
  of?: never;
  /** Variables for the snippet: one plain JSON object. */
  params?: Params | undefined;
}

/** A snippet from `defineSnippet`, with the params it is defined to take. */
export type SnippetByName<Schema extends ParamsSchema | undefined> = CommonProps & {
  /** The snippet, as `defineSnippet` returned it. */
  of: SnippetDefinition<Schema>;
  id?: never;
} & (undefined extends ParamsOf<Schema>
    ? { params?: ParamsOf<Schema> }
    : {
        /** Variables for the snippet, as it is defined to take them. */
        params: ParamsOf<Schema>;
      });

export type SnippetProps<Schema extends ParamsSchema | undefined = undefined> =
  | SnippetById
  | SnippetByName<Schema>;
