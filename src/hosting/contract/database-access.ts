import Type, { type Static } from 'typebox';
import type { InstallRef } from './install-ref.ts';
import { sentences, time } from './message-values.ts';

/** Opens the databases of websites in a browser. */
export interface DatabaseAccess {
  /**
   * Creates a link to the database of a website. Visiting {@link DATABASE_PATH} with the token under a name of the website opens it,
   * once and until the link expires.
   */
  createDatabaseLink(install: InstallRef): Promise<DatabaseLink | DatabaseLinkRefused>;
}

/** Where a website's database is shown. It works before the website's rules for paths, and asks for no password of visitors. */
export const DATABASE_PATH = '/.well-known/homeport-database/';

/** Its cookie. A request without it needs a token. */
export const DATABASE_COOKIE = 'homeport_database';

export const DatabaseLinkSchema = Type.Object({
  /** The seconds until which it counts, a dot, and 256 random bits as base64url. The host keeps a hash only. */
  token: Type.String({ pattern: '^\\d{10}\\.[A-Za-z0-9_-]{43}$' }),
  expiresAt: time,
});
export type DatabaseLink = Static<typeof DatabaseLinkSchema>;

export const DatabaseLinkRefusedSchema = Type.Object({
  /** `missing`: the machine lacks the program that shows databases; `website`: a static website, or its PHP does not run. */
  refused: Type.Enum(['missing', 'website']),
  /** In one or two sentences, for the website's owner. */
  reason: sentences,
});
export type DatabaseLinkRefused = Static<typeof DatabaseLinkRefusedSchema>;
