import { field } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { type S3Server, startS3Server } from '../../../../test/servers/s3-server.ts';

export type Install = { id: string; name: string };

/** A Homeport with the object storage that its installs offload to. */
export interface Offloading {
  storage: S3Server;
  homeport: TestHomeport;
  accountId: string;
  owner: Person;
}

export async function startOffloading(): Promise<Offloading> {
  const storage = await startS3Server({
    credentials: { accessKeyId: 'homeport', secretAccessKey: 'storage secret' },
    forbidden: ['locked-bucket'],
  });
  const homeport = await startTestHomeport({
    environment: {
      HOMEPORT_S3_ENDPOINT: storage.url,
      // Some resolvers do not resolve `bucket.localhost` to this machine.
      HOMEPORT_S3_PATH_STYLE: 'true',
      HOMEPORT_S3_CREDENTIALS: 'homeport:storage secret',
    },
  });
  return { storage, homeport, ...(await homeport.ownedAccount()) };
}

export const files = (id: string) => `/installs/${id}/offload_settings/files`;

export const settings = (bucket: string, more: object = {}) => ({
  cloud: 's3',
  bucket,
  bucket_region: 'us-east-1',
  path_settings: [{ path: '/uploads', excluded_paths: ['/uploads/private'], redirect_type: 'break' }],
  ...more,
});

let counter = 0;

/** Requests of the offload tests, by default as the owner. */
export function offloadCalls(present: () => Offloading) {
  const fileOf = ({ id }: Install, person = present().owner) =>
    person.client.get(`/installs/${id}/offload_settings/filestore_validation_file`);

  return {
    fileOf,
    newInstall(): Promise<Install> {
      const { homeport, owner, accountId } = present();
      return homeport.install(owner, accountId);
    },
    read: ({ id }: Install, person = present().owner) => person.client.get(files(id)),
    /** Requests settings and waits for the outcome. */
    async ask(
      { id }: Install,
      filestore_settings: object,
      method: 'POST' | 'PATCH' = 'POST',
      person = present().owner,
    ) {
      const answer = await person.client.call(method, files(id), { json: { filestore_settings } });
      await present().homeport.idle();
      return answer;
    },
    /** Creates a bucket with the install's validation file. */
    async bucketOf(install: Install): Promise<string> {
      counter += 1;
      const bucket = `bucket-${counter}`;
      const { body } = await fileOf(install);
      present().storage.put(bucket, String(field(body, 'name')), `${field(body, 'content')}\n`);
      return bucket;
    },
  };
}
