"""``adatron play``: a page to watch the algorithms learn."""

import click

from adatron.cli.options import common_options


@click.command()
@click.argument("link", required=False, metavar="[LINK]")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Default: any free port.")
@click.option("--no-browser", is_flag=True, help="Print the address only.")
@common_options
def play(link: str | None, port: int, no_browser: bool) -> None:
    """Open a page on which to watch the algorithms learn.

    You place the points. The page is served on 127.0.0.1 until Ctrl-C, and loads nothing from the
    internet. A LINK that somebody copied from the page brings back their points and settings.
    """
    import warnings
    import webbrowser
    from threading import Thread

    from adatron.play import PlayServer

    if link is not None and "#" not in link:
        raise click.BadParameter(f"{link!r} has no #, after which the points are; copy the whole link.")
    with PlayServer(port) as server, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the page says how a fit ended
        address = server.address + ("" if link is None else "#" + link.partition("#")[2])
        click.echo(f"playground: {address}\nCtrl-C ends it")
        if not no_browser:
            Thread(target=webbrowser.open, args=[address], daemon=True).start()  # one in the terminal blocks
        server.serve_forever()
