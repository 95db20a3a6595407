import { describe, expect, it } from 'vitest';
import { authorFault } from './author.ts';
import { parseHead } from './message-head.ts';

const shop = {
  sender: 'shop@bounces.operator.co.uk',
  platformAddress: 'no-reply@panel.company.example',
  portalHost: 'portal.hosting.example',
  siteDomain: 'sites.operator.example',
  ownDomain: 'shop.sites.operator.example',
};

function faultOf(text: string | Buffer, submitter = shop): string | null {
  const head = parseHead(Buffer.from(text), true);
  if (head === null) throw new Error('the head has not ended');
  return authorFault(head, submitter);
}

const base64 = (text: string) => `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`;

describe('From and Sender', () => {
  it.each([
    'To: a@x.example',
    'From: hello@customer.example',
    'From: Shop <hello@customer.example>\nSender: robot@else.example',
    'From: "Shop, Inc. (London)" <hello@customer.example>, Ann <ann@x.example>',
    `From: ${base64('Größe: Shop')} <hello@customer.example>`,
    'From: WordPress <wordpress@shop.sites.operator.example>',
    'From: a@News.Shop.Sites.Operator.example',
    'From: a@notoperator.example',
    'From: a@operator.example.customer.example',
    'From: a@bücher.example',
    'From: a@hosting.example',
    'Reply-To: billing@operator.example',
  ])('may be %j', (text) => {
    expect(faultOf(`${text}\n\n`)).toBeNull();
  });

  it.each([
    'From: billing@operator.example',
    'From: billing@operator.co.uk',
    'From: no-reply@panel.company.example',
    'From: billing@company.example',
    'From: support@portal.hosting.example',
    'from : Billing <billing@OPERATOR.example>',
    'From: a@sites.operator.example',
    'From: a@blog.sites.operator.example',
    'From: a@xshop.sites.operator.example',
    'From: a@mail.operator.example',
    'From: shop@bounces.operator.co.uk',
    'From: a@x.example, billing@operator.example',
    'From: a@x.example\nSender: billing@operator.example',
    'From: staff: a@x.example, billing@operator.example;',
    'From:\n billing@operator.example',
    'From: billing@\n operator.example',
    'From: billing@(of)operator.example',
    'From: billing (the) @ operator . example',
    'From: "billing"@operator.example',
    'From: <@x.example:billing@operator.example>',
    'From: =?utf-8?Q?billing?=@operator.example',
    'From: billing@operator\0.example',
    'From: billing@operator。example',
    'From: billing@ｏperator.example',
    'From: "billing@operator.example" <a@x.example>',
    'From: "billing\\@operator.example" <a@x.example>',
    'From: a@x.example (billing@operator.example)',
    'From: billing@operator.example <a@x.example>',
    'From: <billing@operator.example> <a@x.example>',
    'From: <a@x.example> <billing@operator.example>',
    `From: ${base64('billing@operator.example')} <a@x.example>`,
    `From: ${base64('billing@oper')} ${base64('ator.example')} <a@x.example>`,
    'From: =?utf-8?Q?billing=40operator.example?= <a@x.example>',
  ])('may not be %j', (text) => {
    expect(faultOf(`${text}\n\n`)).toMatch(/domain of the provider|cannot be read|contains a control/);
  });

  it.each<[string, RegExp]>([
    ['From: a@x.example\nFrom: b@x.example', /more than one From/],
    ['Sender: a@x.example\nsender: b@x.example', /more than one Sender/],
    ['From:', /From cannot be read/],
    ['From: Shop', /From cannot be read/],
    ['From: "billing@operator.example', /domain of the provider/],
    ['From: billing@operator.example.', /cannot be read/],
    ['From: a@=?utf-8?Q?operator.example?=', /cannot be read/],
    [`From: ${base64('billing@operator.example')}`, /cannot be read/],
    ['From: a@[127.0.0.1]', /cannot be read/],
    ['From: a@x.example\x00', /control character/],
    [`From: ${'a@x.example,'.repeat(1_000)}`, /too long/],
  ])('is refused if it is %.60j', (text, reason) => {
    expect(faultOf(`${text}\n\n`)).toMatch(reason);
  });

  it('guards a domain that is a public suffix by itself', () => {
    const local = { ...shop, sender: 'shop@localhost', siteDomain: 'co.uk', ownDomain: 'shop.localhost' };
    expect(faultOf('From: a@shop.co.uk\n\n', local)).toMatch(/domain of the provider/);
  });
});
