import { useMutation } from '@tanstack/react-query';
import { hosting } from '../../../api/client.ts';
import { unwrap, unwrapEmpty } from '../../../api/failure.ts';
import { Button } from '../../../components/button.tsx';
import { Copyable } from '../../../components/copy.tsx';
import { TextField } from '../../../components/fields.tsx';
import { textOf } from '../../../components/form.tsx';
import { showFailure, showSuccess } from '../../../components/toast.tsx';

/** The key of the install, and where its former host is. */
export function SshFields({ installId }: { installId: string }) {
  const plain = { autoCapitalize: 'none', spellCheck: false } as const;
  return (
    <>
      <ImportKey installId={installId} />
      <TextField label="Old host" name="host" required placeholder="ssh.example.com" {...plain} />
      <TextField label="Port" name="port" type="number" min={1} max={65_535} defaultValue={22} required />
      <TextField label="User" name="user" required {...plain} />
      <TextField
        label="Folder of the WordPress"
        name="path"
        required
        pattern="[^\-].*"
        placeholder="public_html"
        hint="Absolute, or from the home of the user."
        {...plain}
      />
      <TextField
        label="Host key"
        name="host_key"
        pattern="SHA256:[A-Za-z0-9+\/]{43}"
        placeholder="SHA256:"
        hint="Leave it empty at first: the import then shows the host key and changes nothing. Compare it with the one that your old host publishes, and import again with it."
        {...plain}
      />
    </>
  );
}

/** The source as the API takes it. */
export function sshSource(values: FormData) {
  const hostKey = textOf(values, 'host_key').trim();
  return {
    source: 'ssh' as const,
    host: textOf(values, 'host').trim(),
    port: Number(textOf(values, 'port')),
    user: textOf(values, 'user').trim(),
    path: textOf(values, 'path').trim(),
    ...(hostKey === '' ? {} : { host_key: hostKey }),
  };
}

function ImportKey({ installId }: { installId: string }) {
  const params = { path: { install_id: installId } };
  const show = useMutation({
    mutationFn: () => unwrap(hosting.POST('/installs/{install_id}/import_key', { params })),
    onError: showFailure,
  });
  const renewal = useMutation({
    mutationFn: () => unwrap(hosting.POST('/installs/{install_id}/import_key/renewal', { params })),
    onError: showFailure,
  });
  const deletion = useMutation({
    mutationFn: () => unwrapEmpty(hosting.DELETE('/installs/{install_id}/import_key', { params })),
    onSuccess() {
      show.reset();
      renewal.reset();
      showSuccess('The key was deleted. Remove it from the old host, too.');
    },
    onError: showFailure,
  });
  const key = renewal.data ?? show.data;
  return (
    <div>
      <p>
        Add the public key of this install to <code>~/.ssh/authorized_keys</code> on the old host. Remove it
        after the import.
      </p>
      {key ? (
        <>
          <Copyable text={key.public_key} what="the public key" />
          <p>
            <Button small variant="quiet" pending={renewal.isPending} onClick={() => renewal.mutate()}>
              Renew the key
            </Button>{' '}
            <Button small variant="quiet" pending={deletion.isPending} onClick={() => deletion.mutate()}>
              Delete the key
            </Button>
          </p>
        </>
      ) : (
        <Button pending={show.isPending} onClick={() => show.mutate()}>
          Show the public key
        </Button>
      )}
    </div>
  );
}
