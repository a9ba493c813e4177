import { cleanText } from './clean-text.ts';

/** The path of a property, such as `params.plans[0]["a b"]`. */
export function pathTo(holder: string, key: string | number): string {
  if (typeof key === 'number') return `${holder}[${key}]`;
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `${holder}.${key}` : `${holder}[${cleanText(JSON.stringify(key))}]`;
}

interface Level {
  path: string;
  /** The keys of an object so far; `undefined` for an array. */
  keys: Set<string> | undefined;
  /** The key or index of the value that comes next. */
  next: string | number;
}

const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],]|-?\d[\d.eE+-]*/g;

/**
 * Finds what `JSON.parse` changes silently: a number that JavaScript cannot represent, and a key that is given twice.
 *
 * @param json valid JSON.
 * @returns a sentence that begins with the path.
 */
export function changedByJson(json: string, root: string): string | undefined {
  const levels: Level[] = [];
  let isKey = false;
  for (const [token] of json.matchAll(tokens)) {
    const level = levels.at(-1);
    // Only on demand: a key that has to be quoted is cleaned first, and most tokens need no path.
    const path = () => (level === undefined ? root : pathTo(level.path, level.next));
    if (token === '{') levels.push({ path: path(), keys: new Set(), next: '' });
    else if (token === '[') levels.push({ path: path(), keys: undefined, next: 0 });
    else if (token === '}' || token === ']') levels.pop();
    else if (token === ',' && typeof level?.next === 'number') level.next += 1;
    else if (token.startsWith('"') && level?.keys !== undefined && isKey) {
      level.next = JSON.parse(token);
      if (level.keys.has(level.next as string)) return `${pathTo(level.path, level.next)} is given twice.`;
      level.keys.add(level.next as string);
    } else if (/^[-\d]/.test(token) && !isExact(token)) {
      return `${path()} is the number ${cleanText(token)}, which JavaScript cannot represent: write it as a string.`;
    }
    // After these, an object's next string is a key.
    isKey = token === '{' || (token === ',' && level?.keys !== undefined);
  }
  return undefined;
}

function isExact(written: string): boolean {
  const value = Number(written);
  return Number.isFinite(value) && sameDigits(String(value)) === sameDigits(written);
}

/** A number as its significant digits and the power of ten of the last one: `1.50e3` and `1500` are both `15e2`. */
function sameDigits(number: string): string {
  const [, sign = '', whole = '', fraction = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = withoutTrailingZeros(digits);
  if (significant === '') return '0';
  const exponent = BigInt(power) - BigInt(fraction.length) + BigInt(digits.length - significant.length);
  return `${sign}${significant}e${exponent}`;
}

/** A pattern for this would take quadratic time. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits.charAt(end - 1) === '0') end -= 1;
  return digits.slice(0, end);
}
