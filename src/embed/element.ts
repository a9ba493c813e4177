/** The element that says where a snippet belongs: `<snippet-embed id="42" params='{"plan":"pro"}'>`. */
export const elementName = 'snippet-embed';

/** What an embed shows of a snippet: its content as `html`, or the `text` of it. */
export type EmbedAs = 'html' | 'text';

/** The attributes of one embed, as the component writes them and the scanner reads them. */
export interface EmbedAttributes {
  id?: string | undefined;
  params?: string | undefined;
  as?: string | undefined;
  optional?: string | undefined;
}
