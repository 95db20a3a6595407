import { describe, expect, it } from 'vitest';
import { CORE_TABLES } from '../../wordpress/core-tables.ts';
import { judgeData, lostUploads, type WebsiteData } from './website-losses.ts';

const tablesOf = (prefix: string, without: string[] = []) =>
  new Set(CORE_TABLES.filter((name) => !without.includes(name)).map((name) => prefix + name));

const WHOLE: WebsiteData = {
  hasRoot: true,
  config: { prefix: 'a_' },
  hasContent: true,
  database: 'hp_shop',
  tables: tablesOf('a_'),
};
const SEEN = { tablePrefix: 'a_', tables: [...CORE_TABLES] };
const messages = (data: Partial<WebsiteData>, seen: typeof SEEN | null = SEEN) =>
  judgeData({ ...WHOLE, ...data }, seen).losses.map(({ message, closes }) => [closes, message]);

describe('the data of a website', () => {
  it('is remembered while nothing is lost', () => {
    expect(judgeData(WHOLE, null)).toEqual({ losses: [], seen: SEEN, restorablePrefix: null });
    // Its configuration sets the prefix in another way.
    const unusual = { ...WHOLE, config: { prefix: null } };
    expect(judgeData(unusual, null).seen).toEqual(SEEN);
    expect(judgeData({ ...unusual, tables: new Set([...tablesOf('a_'), ...tablesOf('b_')]) }, null)).toEqual({
      losses: [],
      seen: null,
      restorablePrefix: null,
    });
  });

  it('is lost as a whole or in part', () => {
    const files = 'The files of the website are missing from htdocs.';
    expect(messages({ hasRoot: false, config: null, hasContent: false })).toEqual([[true, files]]);
    expect(messages({ config: null, hasContent: false })).toEqual([[true, files]]);
    expect(messages({ hasContent: false })).toEqual([[true, 'The folder wp-content is missing.']]);
    expect(messages({ tables: null })).toEqual([[true, 'The database hp_shop is missing.']]);
    expect(messages({ tables: new Set() })).toEqual([[true, 'The database hp_shop has no tables.']]);
    expect(messages({ config: null, tables: null })).toEqual([
      [true, 'The database hp_shop is missing.'],
      [true, 'wp-config.php is missing.'],
    ]);
  });

  it('closes the website only if WordPress needs what is lost', () => {
    expect(messages({ tables: tablesOf('a_', ['options', 'users']) })).toEqual([
      [true, 'These tables are missing from the database hp_shop: a_options, a_users.'],
    ]);
    expect(messages({ tables: tablesOf('a_', ['comments']) })).toEqual([
      [false, 'The table a_comments is missing from the database hp_shop.'],
    ]);
    // It may have its users elsewhere, and never had comments.
    expect(messages({ tables: tablesOf('a_', ['users', 'comments']) }, null)).toEqual([]);
  });

  it('includes a configuration for other tables, which the host leaves alone', () => {
    const found = judgeData({ ...WHOLE, config: { prefix: 'wp_' } }, SEEN);
    expect(found.losses).toMatchObject([
      { closes: false, remedy: 'Set $table_prefix in wp-config.php to "a_" again.' },
    ]);
    expect(found.seen).toBeNull();
    // Of several, such as for an included file that sets the prefix later.
    const several = new Set([...tablesOf('a_'), ...tablesOf('b_')]);
    expect(judgeData({ ...WHOLE, config: { prefix: 'wp_' }, tables: several }, null).losses).toMatchObject([
      { closes: false, remedy: 'Set $table_prefix in wp-config.php to "a_" or "b_" again.' },
    ]);
    // Renamed together with the tables.
    expect(messages({ config: { prefix: 'b_' }, tables: tablesOf('b_') })).toEqual([]);
  });

  it('tells the prefix for a lost wp-config.php only if it is certain', () => {
    const prefix = (tables: Set<string>, seen: typeof SEEN | null) =>
      judgeData({ ...WHOLE, config: null, tables }, seen).restorablePrefix;
    expect(prefix(tablesOf('a_'), SEEN)).toBe('a_');
    expect(prefix(tablesOf('a_'), null)).toBe('a_');
    const two = new Set([...tablesOf('a_'), ...tablesOf('b_')]);
    expect(prefix(two, SEEN)).toBe('a_');
    expect(prefix(two, null)).toBeNull();
    expect(prefix(tablesOf('b_'), SEEN)).toBeNull();
    expect(prefix(tablesOf('a_', ['users']), SEEN)).toBeNull();
    // A network has more settings in its configuration than the prefix.
    expect(prefix(new Set([...tablesOf('a_'), 'a_blogs', 'a_sitemeta']), SEEN)).toBeNull();
  });

  it('includes uploads that the media library has', () => {
    expect(lostUploads(0)).toEqual([]);
    expect(lostUploads(2)).toMatchObject([{ closes: false, message: expect.stringContaining('2 files') }]);
  });
});
