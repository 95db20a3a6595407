import { SETTINGS } from './settings.ts';

const BEGIN = '<!-- settings -->';
const END = '<!-- /settings -->';

/** Every setting as a Markdown table: variable, default, meaning. Ends with a line break. */
export function settingsTable(): string {
  const cell = (text: string) => text.replaceAll('|', '\\|');
  const rows = Object.values(SETTINGS).map(
    ({ variable, defaultText, meaning }) => `| \`${variable}\` | ${cell(defaultText)} | ${cell(meaning)} |`,
  );
  return ['| Setting | Default | Meaning |', '|---|---|---|', ...rows, ''].join('\n');
}

/**
 * Returns the document with the current table between `<!-- settings -->` and `<!-- /settings -->`. Throws if a marker is
 * missing.
 */
export function withSettingsTable(document: string): string {
  const begin = document.indexOf(BEGIN);
  const end = document.indexOf(END);
  if (begin === -1 || end < begin) throw new Error(`the document has no ${BEGIN} … ${END}`);
  return `${document.slice(0, begin + BEGIN.length)}\n${settingsTable()}${document.slice(end)}`;
}
