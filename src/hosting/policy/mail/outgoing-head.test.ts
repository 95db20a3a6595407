import { describe, expect, it } from 'vitest';
import { parseHead } from './message-head.ts';
import { outgoingHead } from './outgoing-head.ts';

const sending = {
  install: { id: '11111111-1111-4111-8111-111111111111', name: 'shop' },
  sender: 'homeport@operator.example',
  siteDomain: 'sites.example',
  ownDomain: 'shop.sites.example',
  portalHost: 'portal.hosting.example',
};

function sent(...lines: string[]): string {
  const head = parseHead(Buffer.from([...lines, '', ''].join('\n')), true);
  if (head === null) throw new Error('the head has not ended');
  const outgoing = outgoingHead(head, sending, { id: 'id-1', date: new Date('2026-01-31T09:30:05Z') });
  if ('fault' in outgoing) throw new Error(outgoing.fault);
  return outgoing.head.toString();
}

describe('the head of a message that leaves the host', () => {
  it('never speaks for the provider, and has the address of its install without a From', () => {
    const head = sent('To: a@x.example');
    expect(head).toContain('\r\nFrom: shop@shop.sites.example\r\n');
    expect(head).toContain('\r\nMessage-ID: <id-1@shop.sites.example>\r\n');
    expect(head).not.toContain('operator.example');
  });

  it('checks what the host adds like what the website writes', () => {
    const wrong = { ...sending, ownDomain: 'shop.elsewhere.example', sender: 'x@elsewhere.example' };
    const head = parseHead(Buffer.from('To: a@x.example\n\n'), true);
    if (head === null) throw new Error('the head has not ended');
    const added = { id: 'id-1', date: new Date(0) };
    expect(outgoingHead(head, wrong, added)).toHaveProperty('head');
    const refused = outgoingHead(head, { ...wrong, install: { ...wrong.install, name: 'a,b' } }, added);
    expect(refused).toEqual({ fault: expect.stringContaining('From cannot be read') });
  });

  it.each([
    'Resent-From: billing@operator.example',
    'resent-sender: billing@operator.example',
    'Return-Path: <billing@operator.example>',
    'ARC-Seal: i=1; d=operator.example',
    'Authentication-Results: mx.operator.example; dkim=pass',
    'Received-SPF: pass',
    'Delivered-To: a@x.example',
    'Author: billing@operator.example',
    'X-Homeport-Anything: 1',
    'DKIM-Signature: v=1; a=rsa-sha256; d=operator.example; s=one; b=abc',
    'DKIM-Signature: v=1; a=rsa-sha256;\n d = Mail.Operator.example;s=one; b=abc',
    'DKIM-Signature: v=1; d=operator.exam\n ple; b=abc',
    'DKIM-Signature: v=1; b=abc',
    'List-Unsubscribe: <https://portal.hosting.example/unsubscribe?token=1>',
    'List-Unsubscribe: <mailto:leave@lists.operator.example>',
    'List-Unsubscribe: <mailto:leave%40operator.example>, <https://x.example/>',
    'List-Unsubscribe: <HTTPS://a:b@PORTAL.hosting.example:8443/>',
    'List-Id: News <billing@operator.example>',
    'List-Help: <https://blog.sites.example/help>',
  ])('loses %j', (line) => {
    const head = sent('To: a@x.example', line, 'Subject: Hi');
    const name = line.slice(0, line.indexOf(':')).toLowerCase();
    expect(head.toLowerCase()).not.toContain(`\n${name}:`);
    expect(head).toContain('Subject: Hi\r\n');
  });

  it('has 8 KiB of fields about mailing lists at most', () => {
    const list = (size: number) => `List-Help: <https://x.example/${'a'.repeat(size)}>`;
    const head = sent(
      'To: a@x.example',
      list(7_000),
      list(2_000),
      `List-Id: ${'@a'.repeat(100_000)}`,
      'Subject: Hi',
    );
    expect(head.match(/^List-/gm)).toHaveLength(1);
    expect(head).toContain('Subject: Hi\r\n');
  });

  it.each([
    'DKIM-Signature: v=1; a=rsa-sha256; d=customer.example; s=one; b=abc',
    'DKIM-Signature: v=1; d=shop.sites.example; b=abc',
    'List-Unsubscribe: <https://customer.example/leave>, <mailto:leave@customer.example>',
    'List-Unsubscribe: <https://shop.sites.example/leave>',
    'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
    'List-Unsubscribe: <https://hosting.example/leave>',
    'Reply-To: hello@customer.example',
    'X-Mailer: PHP',
  ])('keeps %j', (line) => {
    expect(sent('To: a@x.example', line)).toContain(`\r\n${line}\r\n`);
  });
});
