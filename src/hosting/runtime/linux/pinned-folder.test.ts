import { lstat, mkdir, readdir, readFile, readlink, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../test/database.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import { pinFolder } from './pinned-folder.ts';

/** The user that runs the test; only root could give files to another. */
const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const options = { ...owner, mode: 0o640 };

let place: { path: string; remove(): void };
let path: string;
beforeEach(async () => {
  place = temporaryFolder();
  path = join(place.path, 'htdocs');
  await mkdir(path);
});
afterEach(() => place.remove());

describe.skipIf(process.platform !== 'linux')('a pinned folder', () => {
  it('lists its entries and follows no link', async () => {
    await writeFile(join(path, 'file'), '');
    await mkdir(join(path, 'folder'));
    await symlink('folder', join(path, 'link'));
    const folder = await pinFolder(path);
    expect(await folder.stat('file')).toEqual({ type: 'file' });
    expect(await folder.stat('folder')).toEqual({ type: 'folder' });
    expect(await folder.stat('link')).toEqual({ type: 'link', target: 'folder', uid: owner.uid });
    expect(await folder.stat('none')).toEqual({ type: 'none' });
    expect((await folder.names()).sort()).toEqual(['file', 'folder', 'link']);
    await folder.close();
  });

  it('looks into a folder, but not through a link', async () => {
    await mkdir(join(path, 'inner'));
    await writeFile(join(path, 'inner/file'), '');
    await symlink('inner', join(path, 'link'));
    const folder = await pinFolder(path);
    const inner = await folder.look('inner');
    expect(await inner?.changedAt('file')).toEqual(
      (await lstat(join(path, 'inner/file'), { bigint: true })).mtimeNs,
    );
    expect(await inner?.changedAt('none')).toBeNull();
    expect([await folder.look('link'), await folder.look('none')]).toEqual([null, null]);
    await inner?.close();
    await folder.close();
  });

  it('stays the same folder when another takes its name', async () => {
    const folder = await pinFolder(path);
    await rename(path, join(place.path, 'moved'));
    await mkdir(path);
    await folder.write('mine', 'text', options);
    await folder.link('link', '/target');
    expect(await readdir(path)).toEqual([]);
    expect((await readdir(join(place.path, 'moved'))).sort()).toEqual(['link', 'mine']);
    await folder.close();
  });

  it('replaces a link instead of following it', async () => {
    const elsewhere = join(place.path, 'elsewhere');
    await writeFile(elsewhere, 'untouched');
    await symlink(elsewhere, join(path, 'config'));
    const folder = await pinFolder(path);
    await folder.write('config', 'text', options);
    expect(await readFile(elsewhere, 'utf8')).toBe('untouched');
    expect(await readFile(join(path, 'config'), 'utf8')).toBe('text');
    expect((await lstat(join(path, 'config'))).mode & 0o777).toBe(0o640);
    await folder.link('config', '/other');
    expect(await readlink(join(path, 'config'))).toBe('/other');
    await folder.remove('config');
    await folder.remove('config');
    expect(await readdir(path)).toEqual([]);
    await folder.close();
  });

  it('moves a file from elsewhere', async () => {
    const file = join(place.path, 'dump');
    await writeFile(file, 'rows', { mode: 0o600 });
    await symlink('/etc/passwd', join(path, 'dump'));
    const folder = await pinFolder(path);
    await folder.take(file, 'dump', options);
    expect((await lstat(join(path, 'dump'))).isFile()).toBe(true);
    expect(await readdir(place.path)).toEqual(['htdocs']);
    await folder.close();
  });

  it('enters folders, made where there is nothing, and nothing else', async () => {
    const folder = await pinFolder(path);
    const inner = await folder.enter('new', owner);
    expect(inner?.path).toBe(join(path, 'new'));
    await inner?.write('file', '', options);
    await inner?.close();
    expect((await lstat(join(path, 'new'))).mode & 0o777).toBe(0o755);
    await symlink('new', join(path, 'link'));
    await writeFile(join(path, 'file'), '');
    expect(await folder.enter('link', owner)).toBeNull();
    expect(await folder.enter('file', owner)).toBeNull();
    await folder.close();
  });

  it('reports a folder in the way, and leaves nothing behind', async () => {
    await mkdir(join(path, 'folder'));
    const folder = await pinFolder(path);
    await expect(folder.write('folder', '', options)).rejects.toThrow(PermanentHostError);
    await expect(folder.link('folder', '/x')).rejects.toThrow(
      /folder is a folder, but WordPress needs a file there/,
    );
    expect(await readdir(path)).toEqual(['folder']);
    await folder.close();
  });

  it('accepts only names', async () => {
    const folder = await pinFolder(path);
    for (const name of ['', '.', '..', 'a/b', '../x']) {
      await expect(folder.stat(name), name).rejects.toThrow('is not a name in a folder');
    }
    await folder.close();
  });

  it('cannot be a link', async () => {
    await symlink(path, join(place.path, 'link'));
    await expect(pinFolder(join(place.path, 'link'))).rejects.toThrow(PermanentHostError);
  });
});
