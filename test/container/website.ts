import assert from 'node:assert/strict';
import { text } from '../client.ts';
import { until } from '../machine/guest.ts';
import { createVisitor, type Visitor } from '../operations/visitor.ts';
import type { Container } from './container.ts';

/** The port of the compose file. */
const EDGE = 8080;
const ADDRESS = `http://shop.localhost:${EDGE}`;
const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** Creates a WordPress, as the README does. Resolves once it is active. */
export async function createWebsite(container: Container, patienceMs: number): Promise<string> {
  await container.homeport('install', 'create', 'shop');
  const id = text(await container.api('GET', '/installs'), 'results', 0, 'id');
  await until('the install is active', patienceMs, async () => {
    const status = text(await container.api('GET', `/installs/${id}`), 'status');
    assert.notEqual(status, 'failed');
    return status === 'active';
  });
  return id;
}

/** Uses the website as a visitor and as its administrator. Returns the address of a picture that was uploaded. */
export async function visitWebsite(container: Container, id: string): Promise<string> {
  const visitor = createVisitor({ http: EDGE, https: EDGE });
  try {
    const home = await open(visitor, `${ADDRESS}/`);
    assert.match(home, /<html[^>]*>[\s\S]*wp-/);
    const stylesheet =
      /href=["'](http[^"']+\.css[^"']*)["']/.exec(home)?.[1] ?? `${ADDRESS}/wp-includes/css/dashicons.css`;
    assert.match(await open(visitor, stylesheet), /\{[^}]*:/);
    const link = text(await container.api('POST', `/installs/${id}/wordpress/login_links`, {}), 'url');
    assert.equal((await visitor.open(link)).status, 302);
    assert.match(await open(visitor, `${ADDRESS}/wp-admin/`), /id="wpadminbar"/);
    const nonce = await open(visitor, `${ADDRESS}/wp-admin/admin-ajax.php?action=rest-nonce`);
    const uploaded = await visitor.open(`${ADDRESS}/wp-json/wp/v2/media`, {
      method: 'POST',
      headers: {
        'x-wp-nonce': nonce,
        'content-type': 'image/png',
        'content-disposition': 'attachment; filename="picture.png"',
      },
      body: PICTURE,
    });
    assert.equal(uploaded.status, 201, uploaded.text.slice(0, 500));
    return text(JSON.parse(uploaded.text), 'source_url');
  } finally {
    await visitor.close();
  }
}

/** Whether a visitor sees the home page and an uploaded picture. Rejects with the reason if not. */
export async function seeWebsite(picture: string): Promise<boolean> {
  const visitor = createVisitor({ http: EDGE, https: EDGE });
  try {
    assert.match(await open(visitor, `${ADDRESS}/`), /<html/);
    const answer = await visitor.open(picture);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['content-type'], 'image/png');
    return true;
  } finally {
    await visitor.close();
  }
}

async function open(visitor: Visitor, address: string): Promise<string> {
  const answer = await visitor.open(address);
  assert.equal(answer.status, 200, `${address} answers ${answer.status}: ${answer.text.slice(0, 300)}`);
  return answer.text;
}
