import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../contract/commands.ts';
import { MOST_PLUGINS } from '../../contract/wordpress.ts';
import {
  type PrintedCheck,
  type PrintedWebsite,
  parseCheck,
  parseWebsite,
  readingOf,
} from './website-reading.ts';

const MARK = 'a'.repeat(32);

const plugin = (changes: Partial<PrintedWebsite['plugins'][number]> = {}) => ({
  file: 'akismet/akismet.php',
  name: 'Akismet',
  version: '5.3',
  status: 'active' as const,
  update: null,
  autoUpdate: false,
  ...changes,
});
const theme = (changes: Partial<PrintedWebsite['themes'][number]> = {}) => ({
  stylesheet: 'shop',
  name: 'Shop',
  version: '1',
  status: 'active' as const,
  parent: null,
  bundled: false,
  update: null,
  autoUpdate: false,
  ...changes,
});
const website = (changes: Partial<PrintedWebsite> = {}): PrintedWebsite => ({
  core: { version: '6.8', update: '6.9' },
  plugins: [plugin()],
  themes: [theme()],
  administrators: [{ login: 'admin', email: null, displayName: 'Me', registeredAt: '2026-01-31 09:30:00' }],
  siteHealth: null,
  multisite: false,
  isComplete: true,
  updatesKnown: { core: true, plugins: true, themes: true },
  ...changes,
});
const check = (changes: Partial<PrintedCheck> = {}): PrintedCheck => ({
  updateCheck: { core: null, plugins: null, themes: null },
  shownPlugins: [],
  shownThemes: [],
  siteHealth: null,
  ...changes,
});
const read = (printed: PrintedWebsite, checked: PrintedCheck | null = null, isAsked = false) =>
  readingOf(printed, checked, { isAsked, mark: MARK });

describe('the output of a script', () => {
  it('is the last line of ours, whatever else the website prints', () => {
    const line = `homeport:${JSON.stringify(website())}`;
    expect(parseWebsite(`<p>hello\nhomeport:{}\n${line}\nPHP Warning`)).toEqual(website());
    expect(parseCheck(`x\nhomeport:${JSON.stringify(check())}\n`)).toEqual(check());
    for (const other of ['', 'homeport:', 'homeport:null', 'homeport:{"core":1}', `x${line}`]) {
      expect(parseWebsite(other), other).toBeNull();
    }
  });
});

describe('a reading', () => {
  it('has clean and short texts, which the protocol accepts', () => {
    const nasty = `a\u0000b\n\u202Ec\u001b[31m${'x'.repeat(500)}\ud800`;
    const reading = read(
      website({
        core: { version: nasty, update: nasty },
        plugins: [plugin({ name: nasty, version: nasty, update: nasty })],
        themes: [theme({ name: nasty, version: nasty, parent: nasty, update: nasty })],
        administrators: [{ login: nasty, email: nasty, displayName: nasty, registeredAt: nasty }],
      }),
      check({
        updateCheck: { core: nasty, plugins: null, themes: '' },
        siteHealth: {
          good: 1,
          recommended: 1,
          critical: 0,
          issues: [{ label: nasty, severity: 'critical' }],
        },
      }),
      true,
    );
    expect(COMMANDS.readWordPress.parseResult(reading)).toEqual(reading);
    const [first] = reading.plugins;
    expect(first?.name).toMatch(/^a b c \[31mx+$/);
    expect(first?.name).toHaveLength(200);
    expect(reading.administrators[0]?.registeredAt).toBeNull();
    expect(reading.updateCheck).toMatchObject({ plugins: null, themes: 'unknown reason' });
  });

  it('leaves out plugins and themes whose names cannot be passed on unchanged', () => {
    for (const file of [
      '../x.php',
      'a/../b.php',
      '.x/y.php',
      'a\nb.php',
      `${'x'.repeat(201)}.php`,
      'a/b/c.php',
    ]) {
      expect(read(website({ plugins: [plugin({ file })] })), file).toMatchObject({
        plugins: [],
        isComplete: false,
      });
    }
    expect(read(website({ plugins: [plugin({ file: 'größe/größe.php' })] })).plugins).toHaveLength(1);
    expect(read(website({ themes: [theme({ stylesheet: 'a/b' })] }))).toMatchObject({
      themes: [],
      isComplete: false,
    });
    const plugins = Array.from({ length: MOST_PLUGINS + 1 }, (_, at) => plugin({ file: `p${at}.php` }));
    expect(read(website({ plugins })).plugins).toHaveLength(MOST_PLUGINS);
  });

  it('joins the updates that WordPress stored with those that plugins show', () => {
    const shown = check({
      shownPlugins: [
        { of: 'paid/paid.php', version: '3' },
        { of: 'akismet/akismet.php', version: '9' },
        { of: 'homeport.php', version: '9' },
      ],
      shownThemes: [
        { of: 'shop', version: '2' },
        { of: 'bundled', version: '2' },
      ],
    });
    const { plugins, themes } = read(
      website({
        plugins: [
          plugin({ update: '5.4' }),
          plugin({ file: 'paid/paid.php' }),
          plugin({ file: 'homeport.php', status: 'must_use' }),
        ],
        themes: [theme(), theme({ stylesheet: 'bundled', bundled: true })],
      }),
      shown,
    );
    expect(plugins.map(({ update }) => update?.version)).toEqual(['5.4', '3', undefined]);
    expect(themes.map(({ update }) => update?.version)).toEqual(['2', undefined]);
  });

  it('says how asking for updates ended, and has Site Health only then', () => {
    const stored = { good: 3, recommended: 1, critical: 0, issues: [] };
    const tested = { ...stored, good: 4, issues: [{ label: 'HTTPS', severity: 'critical' as const }] };
    const printed = website({ siteHealth: stored });
    expect(read(printed, check({ siteHealth: tested }))).toMatchObject({
      siteHealth: null,
      updateCheck: null,
    });
    expect(read(printed, check({ siteHealth: tested }), true)).toMatchObject({
      siteHealth: tested,
      updateCheck: { core: null, plugins: null, themes: null },
    });
    // Neither with its plugins nor without them did WordPress run.
    expect(read(printed, null, true)).toMatchObject({
      siteHealth: stored,
      updateCheck: { core: expect.stringContaining('does not run') },
    });
  });

  it('has times in UTC', () => {
    const times = ['2026-01-31 09:30:00', '0000-00-00 00:00:00', '2026-13-01 00:00:00', 'never'];
    const administrators = times.map((registeredAt) => ({
      login: 'a',
      email: null,
      displayName: '',
      registeredAt,
    }));
    expect(read(website({ administrators })).administrators.map((user) => user.registeredAt)).toEqual([
      '2026-01-31T09:30:00.000Z',
      null,
      null,
      null,
    ]);
  });
});
