import { text } from '../client.ts';
import type { Install, Owner, Platform } from './platform.ts';
import { createVisitor, type Visitor } from './visitor.ts';

/** A user who signed in to WordPress with a link. */
export interface Administrator extends Visitor {
  /** The address that the link leads to. */
  landing: string;
  /** Calls the REST API of WordPress. */
  rest(route: string, body: object): Promise<unknown>;
  upload(name: string, content: Buffer): Promise<string>;
}

export async function loginLink({ person }: Owner, { id }: Install): Promise<string> {
  const made = await person.client.post(`/installs/${id}/wordpress/login_links`, {});
  if (made.status !== 201) throw new Error(`no link: ${JSON.stringify(made.body)}`);
  return text(made.body, 'url');
}

export async function signIn(platform: Platform, owner: Owner, install: Install): Promise<Administrator> {
  const visitor = createVisitor(platform.edge);
  const address = platform.addressOf(install.domain);
  const link = new URL(await loginLink(owner, install));
  const signed = await visitor.open(address + link.pathname + link.search);

  async function call(route: string, body: string | Buffer, headers: Record<string, string>) {
    const nonce = (await visitor.open(`${address}/wp-admin/admin-ajax.php?action=rest-nonce`)).text;
    const answer = await visitor.open(`${address}/wp-json/wp/v2/${route}`, {
      method: 'POST',
      headers: { ...headers, 'x-wp-nonce': nonce },
      body,
    });
    if (answer.status >= 300) throw new Error(`${route}: ${answer.status} ${answer.text.slice(0, 500)}`);
    return JSON.parse(answer.text);
  }

  return {
    ...visitor,
    landing: String(signed.headers.location),
    rest: (route, body) => call(route, JSON.stringify(body), { 'content-type': 'application/json' }),
    upload: async (name, content) =>
      text(
        await call('media', content, {
          'content-type': 'image/png',
          'content-disposition': `attachment; filename="${name}"`,
        }),
        'source_url',
      ),
  };
}
