/** A real socket of which a test may drop or change frames: what no TCP connection would do. */
import { type OpenSocket, type Socket, systemPlatform } from '../../src/client/index.ts';

/** Changes a received frame; null: it never came. */
export type Tamper = (text: string) => string | null;

/** `tamper` is asked for each frame, of every socket that is opened. */
export function lossySockets(tamper: { with: Tamper }): OpenSocket {
  return (url, protocol) => {
    const socket = systemPlatform.openSocket(url, protocol);
    return new Proxy(socket, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
      set(target, name, value) {
        if (name !== 'onmessage' || value === null) return Reflect.set(target, name, value, target);
        // trust: the client sets what its interface says
        const hear = value as NonNullable<Socket['onmessage']>;
        return Reflect.set(target, name, ({ data }: { readonly data: unknown }) => {
          const text = tamper.with(String(data));
          if (text !== null) hear({ data: text });
        });
      },
    });
  };
}
