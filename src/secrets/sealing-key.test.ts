import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/database.ts';
import { ConfigError } from '../config/config.ts';
import { loadSealingKey } from './sealing-key.ts';

const KEY = Buffer.alloc(32, 7);

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const modeOf = (file: string) => statSync(file).mode & 0o777;

describe('the sealing key in the data folder', () => {
  const load = () => loadSealingKey({ dataDir: folder.path, sealingKey: null });
  const file = () => join(folder.path, 'sealing.key');

  it('is created on first use with 32 random bytes and mode 600, and kept', () => {
    const key = load();
    expect(key).toHaveLength(32);
    expect(key).not.toEqual(Buffer.alloc(32));
    expect(modeOf(file())).toBe(0o600);
    expect(load()).toEqual(key);
    expect(Buffer.from(readFileSync(file(), 'utf8'), 'base64')).toEqual(key);
  });

  it('appears whole, and leaves nothing else behind', () => {
    load();
    expect(readdirSync(folder.path)).toEqual(['sealing.key']);
  });

  it('says what to do if it cannot be created', () => {
    expect(() => loadSealingKey({ dataDir: join(folder.path, 'missing'), sealingKey: null })).toThrow(
      /The sealing key .*missing\/sealing\.key cannot be created \(ENOENT/,
    );
  });

  it('gets mode 600 back if others had access', () => {
    const key = load();
    chmodSync(file(), 0o644);
    expect(load()).toEqual(key);
    expect(modeOf(file())).toBe(0o600);
  });

  it('is never replaced, even if damaged', () => {
    writeFileSync(file(), 'short');
    expect(load).toThrow(ConfigError);
    expect(load).toThrow(`${file()} does not hold a key of 32 bytes`);
    expect(readFileSync(file(), 'utf8')).toBe('short');
  });
});

describe('a configured key file', () => {
  const file = () => join(folder.path, 'operator.key');
  const load = () => loadSealingKey({ dataDir: folder.path, sealingKey: file() });

  it('is used, and no key is created in the data folder', () => {
    writeFileSync(file(), `${KEY.toString('base64')}\n`, { mode: 0o400 });
    expect(load()).toEqual(KEY);
    expect(modeOf(file())).toBe(0o400);
    expect(readdirSync(folder.path)).toEqual(['operator.key']);
  });

  it('is not created if missing', () => {
    expect(load).toThrow(ConfigError);
    expect(load).toThrow(/HOMEPORT_SEALING_KEY_FILE cannot be used: .*operator\.key cannot be read/);
    expect(existsSync(file())).toBe(false);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it.each([0o640, 0o604, 0o620, 0o666])('is refused with mode %o, which is left unchanged', (mode) => {
    writeFileSync(file(), KEY.toString('base64'));
    chmodSync(file(), mode);
    expect(load).toThrow(ConfigError);
    expect(load).toThrow(`chmod 600`);
    expect(modeOf(file())).toBe(mode);
  });

  it.each([
    ['nothing', ''],
    ['31 bytes', Buffer.alloc(31, 7).toString('base64')],
    ['33 bytes', Buffer.alloc(33, 7).toString('base64')],
  ])('must hold 32 bytes, not %s, and no error shows its content', (_, text) => {
    writeFileSync(file(), text, { mode: 0o600 });
    expect(load).toThrow(ConfigError);
    expect(load).toThrow(`${file()} does not hold a key of 32 bytes`);
    if (text !== '') expect(load).not.toThrow(text);
    expect(readFileSync(file(), 'utf8')).toBe(text);
  });

  it.skipIf(process.getuid?.() === 0)('must be readable', () => {
    writeFileSync(file(), KEY.toString('base64'));
    chmodSync(file(), 0o000);
    expect(load).toThrow(/cannot be read/);
    expect(modeOf(file())).toBe(0o000);
  });
});
