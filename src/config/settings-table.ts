import { markdownTable, withTable } from '../lib/document-table.ts';
import { SETTINGS } from './settings.ts';

/** Every setting as a Markdown table: variable, default, meaning. Ends with a line break. */
export function settingsTable(): string {
  return markdownTable(
    ['Setting', 'Default', 'Meaning'],
    Object.values(SETTINGS).map(({ variable, defaultText, meaning }) => [
      `\`${variable}\``,
      defaultText,
      meaning,
    ]),
  );
}

/** Returns the document with the current table between the markers `settings`. */
export const withSettingsTable = (document: string): string =>
  withTable(document, 'settings', settingsTable());
