/** A snippet's id and params as one text: the same for the same snippet. `params` is canonical JSON or nothing. */
export function snippetKey(id: number, params: string | undefined): string {
  return params === undefined ? `${id}` : `${id} ${params}`;
}
