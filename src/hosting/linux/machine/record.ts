import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { removeDurably, writeDurably } from '../../../lib/durable-file.ts';
import { parseUuid } from '../../../lib/ids.ts';
import { ifThere } from '../../../lib/if-there.ts';
import type { InstallState } from '../../contract/install-state.ts';
import { WebsiteRulesSchema } from '../../contract/website-rules.ts';

const Text = Type.String();
const OrNull = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

const StateSchema = Type.Object({
  id: Text,
  name: Text,
  primaryHostname: Text,
  hostnames: Type.Array(
    Type.Object({
      name: Text,
      redirectTo: OrNull(Text),
      forceHttps: Type.Boolean(),
      certificate: OrNull(Type.Object({ chain: Text, key: Text, notAfter: Text })),
    }),
  ),
  offload: OrNull(
    Type.Object({
      bucket: Text,
      region: Text,
      paths: Type.Array(
        Type.Object({
          path: Text,
          excludedPaths: Type.Array(Text),
          redirectType: Type.Enum(['break', 'permanent']),
        }),
      ),
    }),
  ),
  phpVersion: OrNull(Text),
  wordpressVersion: OrNull(Text),
  mail: Type.Optional(OrNull(Type.Object({ perHour: Type.Integer({ minimum: 0 }) }))),
  rules: Type.Optional(OrNull(WebsiteRulesSchema)),
  php: Type.Optional(
    OrNull(
      Type.Object({
        memoryMb: OrNull(Type.Integer()),
        uploadMb: OrNull(Type.Integer()),
        seconds: OrNull(Type.Integer()),
        workers: OrNull(Type.Integer()),
        inputVars: OrNull(Type.Integer()),
      }),
    ),
  ),
});

const SeenDataSchema = Type.Object({
  tablePrefix: Text,
  /** Its tables of WordPress itself, without the prefix. */
  tables: Type.Array(Text),
});

/** The data that a website had when it last lacked nothing. With it, the host notices a later loss, and puts nothing else in its place. */
export type SeenData = Type.Static<typeof SeenDataSchema>;

const PlacementSchema = Type.Object({
  uid: Type.Integer({ minimum: 1 }),
  gid: Type.Integer({ minimum: 1 }),
  phpVersion: Text,
  wordpressVersion: Text,
  database: Text,
  /** Main names that the database can still have URLs with, former ones and the present one. */
  formerNames: Type.Optional(Type.Array(Text)),
  /** Records of earlier versions lack it. */
  seen: Type.Optional(SeenDataSchema),
  /** The data that is missing, one sentence each. Visitors see that the website is closed. */
  lost: Type.Optional(Type.Array(Text)),
  /** It is being moved: visitors read it, and no one changes it. `until`: ISO 8601; null: it is not in service yet. */
  held: Type.Optional(Type.Object({ until: OrNull(Text) })),
  /** It was made for a restore that has not filled it yet. */
  awaitsRestore: Type.Optional(Type.Literal(true)),
});

const recordSchema = Compile(Type.Object({ state: StateSchema, placement: PlacementSchema }));

/** Decisions of the host for an install; the versions change when the install is switched. */
export type Placement = Type.Static<typeof PlacementSchema>;

/** Wanted state and placement of an install. */
export interface InstallRecord {
  state: InstallState;
  placement: Placement;
}

export interface Records {
  read(installId: string): Promise<InstallRecord | null>;
  /** The file is readable by root only, because it holds private keys. */
  write(record: InstallRecord): Promise<void>;
  remove(installId: string): Promise<void>;
  /** Ids of the installs that have a record, readable or not. */
  ids(): Promise<string[]>;
  /** Every readable record. Logs the others and leaves them in place. */
  all(): Promise<InstallRecord[]>;
}

/** The record of an install in `folder`; null without one. Rejects if it is damaged. */
export async function readRecord(folder: string, installId: string): Promise<InstallRecord | null> {
  const text = await ifThere(readFile(fileOf(folder, installId), 'utf8'));
  return text === null ? null : parse(text, installId);
}

/** See {@link Records.ids}. */
export async function recordIds(folder: string): Promise<string[]> {
  return (await readdir(folder))
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length))
    .filter((id) => parseUuid(id) === id);
}

function fileOf(folder: string, id: string): string {
  if (parseUuid(id) !== id) throw new Error(`"${id}" is not the id of an install`);
  return join(folder, `${id}.json`);
}

/** Records in `folder`, one file per install, named after its id. */
export function createRecords({ folder, log }: { folder: string; log: Logger }): Records {
  const read = (installId: string) => readRecord(folder, installId);
  const ids = () => recordIds(folder);

  return {
    read,
    write: (record) => writeDurably(fileOf(folder, record.state.id), JSON.stringify(record)),
    remove: (installId) => removeDurably(fileOf(folder, installId)),
    ids,
    async all() {
      const records = await Promise.all(
        (await ids()).map((id) =>
          read(id).catch((err: unknown) => {
            log.error({ err, install: id }, 'cannot read the record of an install');
            return null;
          }),
        ),
      );
      return records.filter((record) => record !== null);
    },
  };
}

/** The error messages quote none of the text, because it holds keys. */
function parse(text: string, installId: string): InstallRecord {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`the record of install ${installId} is not JSON`);
  }
  if (recordSchema.Check(value) && value.state.id === installId) return value;
  const [fault] = recordSchema.Errors(value);
  throw new Error(
    `the record of install ${installId} does not match its schema at ${fault?.instancePath || '/'}`,
  );
}
