/** The element that says where a snippet belongs: `<snippet-embed id="42" params='{"plan":"pro"}'>`. */
export const elementName = 'snippet-embed';

/**
 * How a snippet's content goes into the page: as `html`, byte for byte, or as `text`, escaped.
 * Inside `<title>` and `<textarea>` it is always text.
 */
export type EmbedAs = 'html' | 'text';

/** The attributes of one embed, as the component writes them and the scanner reads them. */
export interface EmbedAttributes {
  id?: string | undefined;
  params?: string | undefined;
  as?: string | undefined;
}
