export const STRIPPED_FOLDER: string;
export function strippedName(source: string): string;
