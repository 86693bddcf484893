"""Servers of Redis and PostgreSQL that a test starts, kills and starts again."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline, "the server did not start"
        time.sleep(0.05)


class RedisServer:
    """A server on the loopback that has every write on the disc before it answers."""

    def __init__(self, folder: Path) -> None:
        self.binary = shutil.which("redis-server")
        if self.binary is None:
            pytest.skip("redis-server is not installed")
        pytest.importorskip("redis")
        self.folder = folder
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        assert self.binary is not None
        options = {
            "bind": "127.0.0.1",
            "port": str(self.port),
            "dir": str(self.folder),
            "save": "",
            "appendonly": "yes",
            "appendfsync": "always",
        }
        command = [self.binary]
        for name, value in options.items():
            command += [f"--{name}", value]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        wait_until(self.answers)

    def answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(7) == b"+PONG\r\n"
        except OSError:
            return False

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    stop = kill

    def empty(self) -> None:
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
            connection.sendall(b"FLUSHALL\r\n")
            assert connection.recv(5) == b"+OK\r\n"


class PostgreSQLServer:
    """A server on the loopback with its own data folder, as a user that is not root."""

    def __init__(self, folder: Path) -> None:
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        initdb = shutil.which("initdb") or (str(found[-1]) if found else None)
        if initdb is None:
            pytest.skip("postgresql is not installed")
        pytest.importorskip("psycopg")
        self.binaries = Path(initdb).parent
        self.folder = folder
        self.port = free_port()
        self.url = f"postgresql://tester@127.0.0.1:{self.port}/postgres"
        self.process: subprocess.Popen[bytes] | None = None
        # PostgreSQL refuses to run as root.
        self.user = "postgres" if os.geteuid() == 0 else None
        if self.user is not None:
            shutil.chown(folder, self.user)
        arguments = ["-D", str(folder / "data"), "-U", "tester", "-A", "trust", "-N"]
        subprocess.run(
            [str(self.binaries / "initdb"), *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=folder,
            user=self.user,
        )
        self.start()

    def start(self) -> None:
        settings = ["listen_addresses=127.0.0.1", f"unix_socket_directories={self.folder}"]
        command = [str(self.binaries / "postgres"), "-D", str(self.folder / "data")]
        command += ["-p", str(self.port)]
        for setting in settings:
            command += ["-c", setting]
        deadline = time.monotonic() + 30
        while True:
            self.process = subprocess.Popen(
                command, stderr=subprocess.DEVNULL, cwd=self.folder, user=self.user
            )
            wait_until(lambda: self.answers() or self.has_ended())
            if not self.has_ended():
                return
            # The children of one that was killed may still hold its memory.
            assert time.monotonic() < deadline, "the server ends at once"
            time.sleep(0.1)

    def has_ended(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.url, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def kill(self) -> None:
        if self.process is None:
            return
        # The server's own children end once they see that it is gone.
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        if self.process is not None:
            # A fast shutdown: it does not wait until its clients have gone.
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def empty(self) -> None:
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")


SERVERS = {"redis": RedisServer, "postgresql": PostgreSQLServer}
