import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { createFolders } from '../../lib/create-folders.ts';
import { hasCode } from '../../lib/error-code.ts';
import { OperatorError } from '../../lib/operator-error.ts';

const Profile = Type.Object({
  /** Base URL of the API. */
  url: Type.String(),
  username: Type.String(),
  password: Type.String(),
  /** Certificate to trust, PEM. */
  ca: Type.Optional(Type.String()),
});
export type Profile = Static<typeof Profile>;

const Profiles = Type.Record(Type.String(), Profile);
type Profiles = Static<typeof Profiles>;

/** The name of the profile that commands use unless another is named. */
export const DEFAULT_PROFILE = 'default';

type Environment = Record<string, string | undefined>;

/** The file of the profiles: `$XDG_CONFIG_HOME/homeport/profiles.json`, by default in `~/.config`. */
export function profilesFile(environment: Environment): string {
  const { XDG_CONFIG_HOME: folder } = environment;
  return join(folder || join(homedir(), '.config'), 'homeport', 'profiles.json');
}

export function readProfiles(file: string): Profiles {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return {};
    throw error;
  }
  try {
    return Value.Parse(Profiles, JSON.parse(text));
  } catch {
    throw new OperatorError(`${file} is damaged. Delete it and log in again with "homeport api login".`);
  }
}

/** Writes the profiles, readable by this user only. A crash leaves the earlier file. */
export function writeProfiles(file: string, profiles: Profiles): void {
  createFolders(dirname(file), 0o700);
  const next = `${file}.${process.pid}`;
  writeFileSync(next, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
  renameSync(next, file);
}

/**
 * The server and credential of a command: `HOMEPORT_API_URL` with `HOMEPORT_API_CREDENTIAL` and `HOMEPORT_API_CA`, or the named
 * profile. Throws OperatorError.
 */
export function connectionOf(environment: Environment, name: string | undefined): Profile {
  const { HOMEPORT_API_URL: url, HOMEPORT_API_CREDENTIAL: credential, HOMEPORT_API_CA: caFile } = environment;
  if (url && name === undefined) {
    const colon = credential?.indexOf(':') ?? -1;
    if (credential === undefined || colon < 1) {
      throw new OperatorError('HOMEPORT_API_CREDENTIAL must be username:password beside HOMEPORT_API_URL.');
    }
    return {
      url: apiUrl(url),
      username: credential.slice(0, colon),
      password: credential.slice(colon + 1),
      ...(caFile ? { ca: readCertificate(caFile) } : {}),
    };
  }
  const profile = readProfiles(profilesFile(environment))[name ?? DEFAULT_PROFILE];
  if (profile) return profile;
  throw new OperatorError(
    name === undefined
      ? 'No server is configured. Log in with "homeport api login --url https://panel.example.com", or set HOMEPORT_API_URL and HOMEPORT_API_CREDENTIAL.'
      : `There is no profile "${name}". Add it with "homeport api login --profile ${name}".`,
  );
}

/** A base URL that ends in /v1. Throws OperatorError. */
export function apiUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || url.protocol !== 'https:') {
    throw new OperatorError(`The URL must begin with https://, such as https://panel.example.com: ${text}`);
  }
  const path = url.pathname.replace(/\/+$/, '');
  return `${url.origin}${path.endsWith('/v1') ? path : `${path}/v1`}`;
}

/** Reads a PEM certificate. Throws OperatorError. */
export function readCertificate(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new OperatorError(
      `The certificate cannot be read: ${error instanceof Error ? error.message : file}`,
    );
  }
  if (!text.includes('-----BEGIN CERTIFICATE-----'))
    throw new OperatorError(`${file} is not a PEM certificate.`);
  return text;
}
