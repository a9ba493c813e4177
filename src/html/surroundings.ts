/**
 * The elements around a place of a page in which HTML means something else than elsewhere, outermost first, with a space
 * between: `svg foreignobject`. Empty where HTML means what it usually does.
 */
export type Surroundings = string;

/** The start tags that put HTML into these surroundings when it is parsed. */
export function tagsOf(surroundings: Surroundings): string {
  return surroundings.replace(/\S+\s*/g, (name) => `<${name.trim()}>`);
}
