import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { runCommand } from '../../../lib/run-command.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import {
  runInWordPress,
  startWordPress,
  startWordPressMachine,
  visit,
  type WordPressMachine,
} from './machine.fixture.ts';

const SITE = { primaryHostname: 'shop.test', secure: false };

let machine: WordPressMachine;
let install: SandboxedInstall;

beforeAll(async () => {
  machine = await startWordPressMachine();
  const { websites, version } = await startWordPress(machine);
  const made = await machine.newInstall(version);
  install = made.install;
  await websites.makeFiles(install, { ...SITE, database: made.database });
  await websites.fillDatabase(install, made.database, { ...SITE, title: 'The shop' });
  await machine.serve(install);
});
afterAll(() => machine.stop());

const php = async (code: string): Promise<unknown> =>
  JSON.parse(await runInWordPress(machine, install, `echo json_encode((static function () {${code}})());`));
const redis = async (...command: string[]) =>
  (await runCommand('redis-cli', ['-s', machine.layout.redisSocketOf(install.id), ...command])).stdout.trim();

it('keeps values of every type from one request to the next', async () => {
  await php(`
    foreach (['int' => 5, 'minus' => -3, 'digits' => '5', 'text' => "ü'", 'no' => false, 'none' => null, 'half' => 0.5,
      'list' => [1, 'a' => [true]], 'object' => (object) ['a' => 1]] as $key => $value) wp_cache_set($key, $value, 'types');
    return wp_using_ext_object_cache();`);
  const kept = await php(`
    $values = [];
    foreach (['int', 'minus', 'digits', 'text', 'no', 'none', 'half', 'list', 'object', 'missing'] as $key) {
      $value = wp_cache_get($key, 'types', false, $found);
      $values[$key] = [$found, get_debug_type($value), $value];
    }
    return $values;`);
  expect(kept).toEqual({
    int: [true, 'int', 5],
    minus: [true, 'int', -3],
    digits: [true, 'string', '5'],
    text: [true, 'string', "ü'"],
    no: [true, 'bool', false],
    none: [true, 'null', null],
    half: [true, 'float', 0.5],
    list: [true, 'array', { 0: 1, a: [true] }],
    object: [true, 'stdClass', { a: 1 }],
    missing: [false, 'bool', false],
  });
});

it('does as WordPress says: add, replace, delete, several at once', async () => {
  expect(
    await php(`
      $g = 'verbs';
      return [
        wp_cache_add('a', 1, $g), wp_cache_add('a', 2, $g), wp_cache_get('a', $g),
        wp_cache_replace('b', 1, $g), wp_cache_replace('a', 3, $g), wp_cache_get('a', $g, true),
        wp_cache_set_multiple(['x' => 'X', 'y' => 'Y'], $g), wp_cache_add_multiple(['x' => 'Z', 'z' => 'Z'], $g),
        wp_cache_get_multiple(['x', 'y', 'z', 'none'], $g, true),
        wp_cache_delete('x', $g), wp_cache_delete('x', $g), wp_cache_get('x', $g),
        wp_cache_delete_multiple(['y', 'none'], $g),
        wp_cache_set('', 1, $g), wp_cache_get(null, $g),
      ];`),
  ).toEqual([
    ...[true, false, 1],
    ...[false, true, 3],
    ...[
      { x: true, y: true },
      { x: false, z: true },
    ],
    { x: 'X', y: 'Y', z: 'Z', none: false },
    ...[true, false, false],
    { y: true, none: false },
    ...[false, false],
  ]);
  // Nothing of the memory of one request is needed for it.
  expect(await php(`return [wp_cache_add('a', 9, 'verbs'), wp_cache_get('a', 'verbs')];`)).toEqual([
    false,
    3,
  ]);
});

it('counts up and down, keeps how long a value lasts, and lets it end', async () => {
  expect(
    await php(`
      wp_cache_set('n', 5, 'count', 100);
      wp_cache_set('word', 'abc', 'count');
      return [wp_cache_incr('n', 3, 'count'), wp_cache_decr('n', 2, 'count'), wp_cache_decr('n', 100, 'count'),
        wp_cache_incr('word', 2, 'count'), wp_cache_incr('none', 1, 'count')];`),
  ).toEqual([8, 6, 0, 2, false]);
  expect(Number(await redis('ttl', 'count:n'))).toBeGreaterThan(90);
  expect(await redis('get', 'count:n')).toBe('0');
  await php(`return wp_cache_set('short', 1, 'count', 1);`);
  await new Promise((resolve) => setTimeout(resolve, 1100));
  expect(await php(`return wp_cache_get('short', 'count');`)).toBe(false);
});

it('empties one group, this request or all, and keeps some groups in memory alone', async () => {
  expect(
    await php(`
      wp_cache_set('k', 1, 'one*'); wp_cache_set('k', 2, 'one*two');
      wp_cache_set('k', 3, 'onex');
      wp_cache_add_non_persistent_groups(['brief']);
      wp_cache_set('k', 4, 'brief');
      return [wp_cache_supports('flush_group'), wp_cache_flush_group('one*'), wp_cache_get('k', 'one*'), wp_cache_get('k', 'one*two'),
        wp_cache_get('k', 'onex'), wp_cache_get('k', 'brief')];`),
  ).toEqual([true, true, false, 2, 3, 4]);
  expect(await php(`return [wp_cache_get('k', 'onex'), wp_cache_get('k', 'brief')];`)).toEqual([3, false]);
  expect(
    await php(`wp_cache_set('k', 1, 'two'); wp_cache_flush_runtime(); return wp_cache_get('k', 'two');`),
  ).toBe(1);
  expect(await php('return wp_cache_flush();')).toBe(true);
  expect(await php(`return wp_cache_get('k', 'onex');`)).toBe(false);
});

it('gives and takes objects as copies', async () => {
  expect(
    await php(`
      $mine = (object) ['a' => 1];
      wp_cache_set('o', $mine, 'copies');
      $mine->a = 2;
      wp_cache_get('o', 'copies')->a = 3;
      return wp_cache_get('o', 'copies')->a;`),
  ).toBe(1);
});

it('is done without where Redis does not run, and again with once it does', async () => {
  const home = () => visit(machine, install, '/', { host: 'shop.test:8080' });
  expect((await home()).status).toBe(200);
  expect(Number(await redis('dbsize'))).toBeGreaterThan(10);
  const name = `redis-${install.id}`;
  expect((await machine.daemons.list()).map((daemon) => daemon.name)).toContain(name);
  await machine.daemons.remove(name);
  const without = await home();
  expect(without.status).toBe(200);
  expect(without.body).toContain('<title>The shop');
  expect(await php('return (bool) wp_using_ext_object_cache();')).toBe(false);
  await machine.serve(install);
  expect(await php('return wp_using_ext_object_cache();')).toBe(true);
});

it('lets a request that loses Redis on the way end with what it has in memory', async () => {
  const folder = machine.layout.privateOf(install.id);
  const request = php(`
    wp_cache_set('before', 1, 'lost');
    touch('${folder}/waiting');
    for ($i = 0; $i < 1000 && !file_exists('${folder}/go'); $i++) { usleep(10000); clearstatcache(); }
    return [wp_cache_get('before', 'lost', true), wp_cache_set('after', 2, 'lost'), wp_cache_get('after', 'lost'),
      wp_cache_get('else', 'lost'), wp_cache_incr('after', 1, 'lost'), get_option('blogname'), wp_cache_flush_group('lost')];`);
  await vi.waitUntil(() => existsSync(join(folder, 'waiting')), { timeout: 20_000 });
  await machine.daemons.remove(`redis-${install.id}`);
  await writeFile(join(folder, 'go'), '');
  expect(await request).toEqual([1, true, 2, false, 3, 'The shop', false]);
  await machine.serve(install);
});
