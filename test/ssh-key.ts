import ssh2 from 'ssh2';

const GENERATE = {
  ed25519: () => ssh2.utils.generateKeyPairSync('ed25519'),
  ecdsa: () => ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 }),
  rsa: () => ssh2.utils.generateKeyPairSync('rsa', { bits: 2048 }),
};

/** A new key pair in OpenSSH's form. About one in 200 keys that ssh2 1.17 writes cannot be parsed, so this retries. */
export function newSshKey(type: keyof typeof GENERATE = 'ed25519'): { public: string; private: string } {
  const pair = GENERATE[type]();
  const isReadable = [pair.public, pair.private].every(
    (text) => !(ssh2.utils.parseKey(text) instanceof Error),
  );
  return isReadable ? pair : newSshKey(type);
}
