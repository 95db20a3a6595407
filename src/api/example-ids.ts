/**
 * Identifiers for the examples of the description. All examples tell one story: the install `shop` of the site Shop, which
 * belongs to the account Example. The contract tests replace these ids by real ones.
 */
export const EXAMPLE_ID = {
  account: '7c4b1f0e-52a8-4d39-9a41-0d6f3b8e2c15',
  user: '3f9d2a67-8b14-4c0e-b7f5-91e6a4d0c832',
  site: 'b1e05c94-6f27-4a8d-8c3b-27d9e1f460a5',
  install: 'd8a3f6e1-094c-4b72-a5d8-6e1c72b9f304',
  domain: '5e7190bd-c3f8-4126-9d0a-f84b35a2e6c7',
  otherDomain: 'a90c4d37-1e52-4f6b-8b97-3d05c6e8f1a2',
  report: '2b86e5d0-47a9-4c13-b0e4-c97f1d3a5862',
  archive: '41f6c8d2-93be-4a75-b8e0-7d2a5c1f9036',
  otherInstall: '80d1e9b4-5f37-4c2a-9e68-a3b7c05f1d29',
  backup: 'f04d92c8-7b31-4e56-8a9f-1c5e60d7b3a4',
  sshKey: '68c1b7a5-d240-4f9e-93c6-b0a7e4f2d185',
  credential: '9e25a0f3-8c61-4d7b-a4e2-5f18d3c07b96',
  transfer: '41d8f7b6-2c95-4e0a-8d63-f9a1b7c05e28',
  otherAccount: 'e6a3c9d1-70b4-4f82-95e7-2d8c1b6f40a3',
  activity: '0b7d4e92-f3a8-4c61-b5d9-76e2a1c8f034',
  operation: 'c37f5b12-e9d4-4086-b6a1-84e0d2f9c573',
  event: '1d5c8e02-7a94-4b3f-96d1-c0e7f8b2a45d',
  webhook: '83b0f6d4-5e1a-4c97-a2f8-6d9c04e7b135',
  delivery: 'e6a4d19b-3c70-4258-b8e5-0f72c6a1d943',
  notification: '5b92e7c4-08d1-4f3a-96b5-e2a7c1d0f438',
  incident: '7d02e5b8-91c4-4f6a-a3d7-50b8e6c1f924',
  host: 'f3c91e57-2b60-4d8a-9e14-7a05d8c6b213',
  redirect: 'a47c2e90-5d18-4b63-9f0e-c83b71d6205f',
} as const;
