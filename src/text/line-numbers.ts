/** How many lines a text has. */
export const lineCount = (text: string): number => text.split('\n').length;

/** The number of the line, from 1, that has the character at an offset. */
export const lineAt = (text: string, offset: number): number => lineCount(text.slice(0, offset));
