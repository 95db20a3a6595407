import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { hosting } from '../../../api/client.ts';
import { ApiFailure, unwrap, unwrapEmpty } from '../../../api/failure.ts';
import { Button } from '../../../components/button.tsx';
import { Copyable } from '../../../components/copy.tsx';
import { ConfirmDialog } from '../../../components/dialog.tsx';
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
  });
  const [asked, setAsked] = useState<'renew' | 'delete' | null>(null);
  const ask = (open: boolean) => {
    if (!open) setAsked(null);
  };

  async function renew() {
    await renewal.mutateAsync();
    showSuccess('The key was renewed. Replace it on the old host.');
  }

  async function remove() {
    try {
      await unwrapEmpty(hosting.DELETE('/installs/{install_id}/import_key', { params }));
    } catch (error) {
      // Another user has deleted it.
      if (!(error instanceof ApiFailure && error.status === 404)) throw error;
    }
    show.reset();
    renewal.reset();
    showSuccess('The key was deleted. Remove it from the old host, too.');
  }

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
            <Button small variant="quiet" onClick={() => setAsked('renew')}>
              Renew the key
            </Button>{' '}
            <Button small variant="quiet" onClick={() => setAsked('delete')}>
              Delete the key
            </Button>
          </p>
        </>
      ) : (
        <Button pending={show.isPending} onClick={() => show.mutate()}>
          Show the public key
        </Button>
      )}
      <ConfirmDialog
        open={asked === 'renew'}
        onOpenChange={ask}
        title="Renew the key?"
        description={
          <p>
            The old host refuses the former key from now on, also for imports that wait, until you add the new
            one there.
          </p>
        }
        confirmLabel="Renew key"
        onConfirm={renew}
      />
      <ConfirmDialog
        open={asked === 'delete'}
        onOpenChange={ask}
        title="Delete the key?"
        description={<p>Imports by SSH that wait fail and change nothing.</p>}
        confirmLabel="Delete key"
        onConfirm={remove}
      />
    </div>
  );
}
