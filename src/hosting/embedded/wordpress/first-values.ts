import Sqlite from 'better-sqlite3';
import { escapeTitle } from '../../wordpress/escape-title.ts';
import { PLACEHOLDER } from '../../wordpress/placeholder.ts';

/** The individual values of a new website. */
export interface FirstValues {
  /** `https://example.com`. */
  origin: string;
  email: string;
  title: string;
  /** In WordPress's format. */
  passwordHash: string;
  now: Date;
}

/** Places that name the address, the administrator's address or the title. None of them is a serialised value. */
const TEXTS = {
  wp_comments: ['comment_author_url', 'comment_content'],
  wp_options: ['option_value'],
  wp_posts: ['guid', 'post_content'],
  wp_users: ['user_email', 'user_url'],
} as const;

/** Gives the database of a copied website its own values. No PHP may use it meanwhile. The caller puts it on the disk. */
export function writeFirstValues(file: string, values: FirstValues): void {
  const database = new Sqlite(file, { fileMustExist: true });
  try {
    database.pragma('journal_mode = memory');
    database.pragma('synchronous = off');
    const replaced: [string, string][] = [
      [PLACEHOLDER.email, values.email],
      [PLACEHOLDER.origin, values.origin],
      [PLACEHOLDER.title, escapeTitle(values.title)],
    ];
    const time = values.now.toISOString().slice(0, 19).replace('T', ' ');
    database.transaction(() => {
      for (const [table, columns] of Object.entries(TEXTS)) {
        for (const column of columns) {
          for (const [from, to] of replaced) {
            const change = `update ${table} set ${column} = replace(${column}, ?, ?) where instr(${column}, ?) > 0`;
            database.prepare(change).run(from, to, from);
          }
        }
      }
      database
        .prepare('update wp_users set user_pass = ?, user_registered = ?')
        .run(values.passwordHash, time);
      database
        .prepare(
          'update wp_posts set post_date = ?, post_date_gmt = ?, post_modified = ?, post_modified_gmt = ?',
        )
        .run(time, time, time, time);
      database.prepare('update wp_comments set comment_date = ?, comment_date_gmt = ?').run(time, time);
    })();
  } finally {
    database.close();
  }
}
