import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { HOUR_MS } from './durations.ts';
import { replaceFolder } from './replace-folder.ts';

let place: string;
let folder: string;
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'homeport-replace-'));
  folder = join(place, 'parts', 'dist');
});
afterEach(() => rm(place, { recursive: true }));

const PAGES = ['index.html', 'script.js', 'built-from'];

/** Writes the files of a build one after the other, with a pause before each. */
const building = (build: string, pause: () => Promise<void>) =>
  replaceFolder(folder, async (fresh) => {
    for (const page of PAGES) {
      await pause();
      writeFileSync(join(fresh, page), build);
    }
  });

const content = () =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
const whole = (build: string) => Object.fromEntries(PAGES.map((page) => [page, build]));
const names = () => readdirSync(join(place, 'parts'));

/** A build that stops before its file of this number, as if it was killed there, until it goes on. */
function stoppedAt(build: string, number: number): { stopped: Promise<void>; finish(): Promise<void> } {
  const stopped = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  let reached = 0;
  const end = building(build, () => {
    reached += 1;
    if (reached !== number) return Promise.resolve();
    stopped.resolve();
    return goOn.promise;
  });
  return {
    stopped: stopped.promise,
    finish() {
      goOn.resolve();
      return end;
    },
  };
}

const ready = () => Promise.resolve();

it('creates the folder and its parents, and leaves nothing beside it', async () => {
  await building('first', ready);
  expect(content()).toEqual(whole('first'));
  expect(names()).toEqual(['dist']);
  await building('second', ready);
  expect(content()).toEqual(whole('second'));
  expect(names()).toEqual(['dist']);
});

it('keeps whole what one process wrote when another one is killed', async () => {
  const first = stoppedAt('first', 3);
  await first.stopped;
  const second = stoppedAt('second', 2);
  await second.stopped;
  expect(existsSync(folder)).toBe(false);
  await first.finish();
  // The second one never goes on.
  expect(content()).toEqual(whole('first'));
});

it('takes the last of several processes as a whole', async () => {
  await building('before', ready);
  const builds = ['one', 'two', 'three'].map((name) => stoppedAt(name, 2));
  await Promise.all(builds.map(({ stopped }) => stopped));
  expect(content()).toEqual(whole('before'));
  for (const [at, name] of [
    [2, 'three'],
    [0, 'one'],
    [1, 'two'],
  ] as const) {
    await builds[at]?.finish();
    expect(content()).toEqual(whole(name));
  }
  expect(names()).toEqual(['dist']);
});

it('leaves the folder as it was if it fails', async () => {
  await building('before', ready);
  const failure = building('failed', () => Promise.reject(new Error('no more memory')));
  await expect(failure).rejects.toThrow('no more memory');
  expect(content()).toEqual(whole('before'));
  expect(names()).toEqual(['dist']);
});

it('removes what a killed process left, once no build takes that long', async () => {
  for (const [name, hours] of [
    ['dist-build-killed', 2],
    ['dist-build-working', 0],
    ['distant-build-kept', 2],
  ] as const) {
    const left = join(place, 'parts', name);
    mkdirSync(join(left, 'fresh'), { recursive: true });
    const at = new Date(Date.now() - hours * HOUR_MS);
    utimesSync(left, at, at);
  }
  await building('next', ready);
  expect(names().toSorted()).toEqual(['dist', 'dist-build-working', 'distant-build-kept']);
});
