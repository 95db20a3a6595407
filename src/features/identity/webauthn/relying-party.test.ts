import { expect, it } from 'vitest';
import { relyingPartyOf } from './relying-party.ts';

it.each([
  ['https://portal.example', { id: 'portal.example', origin: 'https://portal.example' }],
  ['https://portal.example:8443/hosting', { id: 'portal.example', origin: 'https://portal.example:8443' }],
  ['https://localhost:8443', { id: 'localhost', origin: 'https://localhost:8443' }],
  ['http://localhost:8080', { id: 'localhost', origin: 'http://localhost:8080' }],
  ['http://portal.localhost', { id: 'portal.localhost', origin: 'http://portal.localhost' }],
  ['http://portal.example', null],
  ['https://192.0.2.7:8443', null],
  ['https://[2001:db8::7]', null],
])('the relying party of %s is %j', (publicUrl, party) => {
  expect(relyingPartyOf(publicUrl)).toEqual(party);
});
