import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CAPABILITIES } from '../contract/capabilities.ts';
import { capabilityOf, offeredBy, refusalOfEmbedded, runtimeOn } from './capabilities.ts';
import { withCapabilitiesTable } from './capabilities-table.ts';

const embedded = { kind: 'embedded', runsPhp: true, hasMailServer: true } as const;

describe('the declaration of capabilities', () => {
  it('is the table of the document about the embedded host', () => {
    const page = readFileSync(new URL('../../../docs/embedded-host.md', import.meta.url), 'utf8');
    expect(page, 'run "npm run docs:tables"').toBe(withCapabilitiesTable(page));
  });

  it('counts what an operator has not set up as missing, and says what to do', () => {
    expect(capabilityOf('mail', 'wordpress', embedded)).toEqual({ available: true });
    expect(capabilityOf('mail', 'wordpress', { ...embedded, hasMailServer: false })).toMatchObject({
      available: false,
      remedy: expect.stringContaining('HOMEPORT_SMTP_URL'),
    });
    expect(capabilityOf('wordpress_login', 'wordpress', { ...embedded, runsPhp: false })).toMatchObject({
      available: false,
      remedy: expect.stringContaining('HOMEPORT_EMBEDDED_PHP_MB'),
    });
    const bare = { kind: 'linux', description: { hasRelay: false, hasWpCli: false } } as const;
    expect(capabilityOf('mail', 'wordpress', bare)).toMatchObject({
      available: false,
      remedy: expect.stringContaining('HOMEPORT_RELAY_URL'),
    });
    expect(capabilityOf('wp_cli', 'wordpress', bare)).toMatchObject({
      available: false,
      remedy: expect.stringContaining('homeport host wp-cli'),
    });
  });

  it('leaves the decision to hosts of earlier versions, which do not tell what they have', () => {
    for (const capability of ['mail', 'wp_cli'] as const) {
      expect(capabilityOf(capability, 'wordpress', { kind: 'linux', description: {} })).toEqual({
        available: true,
      });
    }
  });

  it('never calls a website with WordPress one of files', () => {
    for (const capability of CAPABILITIES) {
      const state = capabilityOf(capability, 'wordpress', embedded);
      if (!state.available) expect(state.reason).not.toContain('consists of files');
    }
  });

  it('knows the runtime of an install from its host, if none is stored', () => {
    expect(runtimeOn('embedded', null)).toBe('static');
    expect(runtimeOn('embedded', 'wordpress')).toBe('wordpress');
    expect(runtimeOn('linux', null)).toBe('wordpress');
  });

  it('gives the embedded host a refusal for exactly what it does not offer', () => {
    for (const capability of CAPABILITIES) {
      const refusal = () => refusalOfEmbedded(capability, 'wordpress');
      if (offeredBy('embedded').includes(capability)) expect(refusal).toThrow();
      else expect(refusal()).toMatch(/\.$/);
    }
  });
});
