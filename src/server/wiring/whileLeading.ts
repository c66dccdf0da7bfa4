import type { Service } from '../../engine/runtime/service.ts';
import type { RoleState } from './election.ts';

/**
 * Runs on the node that leads; `make` is called each time that this node begins to lead. A start or
 * a stop that fails goes to `failed`, and later changes of the role still happen.
 */
export function whileLeading(
  name: string,
  make: () => Service,
  roles: RoleState,
  failed: (error: unknown) => void = () => {},
): Service {
  let running: Service | null = null;
  let changing = Promise.resolve();
  let isOpen = false;
  const stop = async () => {
    const old = running;
    running = null;
    await old?.stop();
  };
  const start = async () => {
    running = make();
    try {
      await running.start();
    } catch (error) {
      // Services that were already started must not stay.
      await stop().catch(failed);
      throw error;
    }
  };
  const change = (wanted: boolean) => {
    const turn = async () => {
      if (wanted !== (running !== null)) await (wanted ? start() : stop());
    };
    changing = changing.then(turn).catch(failed);
  };
  roles.onRole((leads) => change(isOpen && leads));
  return {
    name,
    start: () => {
      isOpen = true;
      change(roles.leads());
    },
    stop: () => {
      isOpen = false;
      change(false);
      return changing;
    },
  };
}
