import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DatabasePlace, databasePlace } from '../database.ts';
import { type Environment, environmentFor, run, serve } from './run-homeport.ts';

const LOADED_PACKAGES = fileURLToPath(new URL('loaded-packages.ts', import.meta.url));

let place: DatabasePlace;
let environment: Environment;

beforeAll(async () => {
  place = await databasePlace();
  environment = await environmentFor(place);
  await run(environment, 'migrate');
});
afterAll(() => place?.remove());

const listFile = () => join(place.settings.dataDir, 'loaded-packages.json');
const watched = (): Environment => ({
  ...environment,
  NODE_OPTIONS: `--import=${LOADED_PACKAGES}`,
  LOADED_PACKAGES: listFile(),
});

async function packagesLoadedBy(...words: string[]): Promise<unknown> {
  const { code, stderr } = await run(watched(), ...words);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(readFileSync(listFile(), 'utf8'));
}

test('help loads what reads words and settings, and nothing else', async () => {
  expect(await packagesLoadedBy('--help')).toEqual(['commander', 'fastest-levenshtein', 'ipaddr.js']);
});

test('a command that asks the database loads nothing of the server', async () => {
  const packages = await packagesLoadedBy('account', 'list');
  expect(packages).toContain('better-sqlite3');
  for (const ofTheServer of [
    'fastify',
    'ssh2',
    'semver',
    '@aws-sdk/client-s3',
    'nodemailer',
    'acme-client',
    'pino-pretty',
  ]) {
    expect(packages).not.toContain(ofTheServer);
  }
});

test('a server that started loads nothing of rarely used parts', async () => {
  const server = await serve(watched());
  server.process.kill('SIGTERM');
  expect((await server.ended).code).toBe(0);
  const packages: unknown = JSON.parse(readFileSync(listFile(), 'utf8'));
  expect(packages).toContain('fastify');
  for (const rarelyUsed of [
    '@aws-sdk/client-s3',
    '@modelcontextprotocol/sdk',
    '@node-rs/argon2',
    '@zxcvbn-ts/core',
    'acme-client',
    'nodemailer',
    'otplib',
    'pino-pretty',
    'ssh2',
    'tldts',
    'vite',
  ]) {
    expect(packages).not.toContain(rarelyUsed);
  }
});
