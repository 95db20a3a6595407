import { readFileSync } from 'node:fs';
import Type from 'typebox';
import { Value } from 'typebox/value';

const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

/** Homeport's own version. */
export const { version } = Value.Parse(Type.Object({ version: Type.String() }), manifest);
